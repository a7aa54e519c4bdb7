"""One picture of both graphs."""
