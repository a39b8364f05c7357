-- A replay locks it: events that it may be owing to an endpoint do not go meanwhile.
INSERT INTO retention (kind, since) VALUES ('events', '-infinity');
