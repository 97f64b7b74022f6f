"""What is measured of a store call by call, and in processes of its own."""
