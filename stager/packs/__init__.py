"""From files to packs and back: reading a source, cutting frames, coding them."""
