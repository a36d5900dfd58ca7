"""What a remote holds: versions, tags, placements. Contents first, pointers last."""
