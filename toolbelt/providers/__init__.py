"""Facts, prices and tokenizers of models, and the clients that ask them."""
