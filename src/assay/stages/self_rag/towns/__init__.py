"""Documents, a database and questions with known answers, about towns that do not exist: made here, from a seed."""
