"""Event files: bytes to points of series.

event_file      one file: where an event is decoded, whichever way
structure, batch_decode
                events of one structure, decoded together; structure finds the fields in their bytes
single_decode   all other events, with protobuf
point_rows, series
                values as columns: of a file, of a run
log_reader      all files of a source, followed while they grow
plugins         messages of hparams and custom scalars
graphs          the graphs in the files
"""
