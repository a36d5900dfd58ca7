"""Words in, words out. One file per verb; app.py finds them, output.py speaks for them."""
