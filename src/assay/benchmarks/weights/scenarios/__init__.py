"""What is stored: data made like that of real models, and the cases that it is stored in."""
