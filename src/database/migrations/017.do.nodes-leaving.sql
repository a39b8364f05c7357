-- A node that is about to end takes no more slots.
ALTER TABLE nodes ADD COLUMN leaving boolean NOT NULL DEFAULT false;
