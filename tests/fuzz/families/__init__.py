"""Families of bad files and of command lines for them: a folder with one idea a file.

A family of files is a function of a random generator that gives the suffix and the bytes of one file; a family of sets
gives several files by name, and the words of the command line that reads them.
"""
