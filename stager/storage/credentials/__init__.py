"""Who signs: where keys are looked for, and how they are kept fresh."""
