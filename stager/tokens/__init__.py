"""Records to token ids: the stations, in the order in which data passes them.

unpacked    .gz, .zst and Parquet as plain files
values      where the values of a JSON array lie
sources     files of records, their kinds, segments
rows        a record's bytes to a value, or why not
formats     which row format a source is in
chats       rows of every format to one conversation
templates   chat templates, as transformers renders them
spans       which characters of a conversation are learned
engines     texts to ids: HF tokenizers, fastokens
marking     labels: the ids inside the learned spans
truncation  rows that are too long, and rows that teach nothing
packing     which rows share a sequence
"""
