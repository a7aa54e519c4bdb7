"""Fold a level by its data flow; `plan` is the list of steps."""
