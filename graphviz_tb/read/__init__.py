"""Former place of the readers, which are in `sources/`, `formats/`, `keras/` and `events/` now."""
