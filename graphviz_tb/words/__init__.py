"""What boxes, lines and stubs of a picture say."""
