"""Records to token ids, by content.

values      where the values of a JSON array lie
sources     files of records, their kinds, segments
rows        a record's bytes to a value, or why not
"""
