"""The words by language and page, gathered by pages/parts/text.py. What a language says, and nothing else."""
