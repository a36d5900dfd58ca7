"""Many transfers at once: threads, ranges, and what held them back."""
