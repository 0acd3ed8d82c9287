"""How the encoders are made and measured."""
