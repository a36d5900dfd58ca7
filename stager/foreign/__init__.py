"""What other tools hold: where their files lie and what they promise of the content."""
