-- The same index in the order of bytes: it finds an address by its beginning as well as whole, whatever the collation of the database.
DROP INDEX customers_listed_by_email;
CREATE INDEX customers_listed_by_email ON customers (organisation_id, mode, lower(email) text_pattern_ops, id);
