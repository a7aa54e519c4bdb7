"""Choice of the groups that a picture opens."""
