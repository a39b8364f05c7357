-- Below 0: so much of what was used of the grant is of before it was as large.
ALTER TABLE grants DROP CONSTRAINT grants_spent_not_negative;
