"""What is known of models and their tokenizers."""
