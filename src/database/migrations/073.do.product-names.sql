-- Outside a transaction: built while others write. In the order of bytes: it finds a product by what its name begins with.
DROP INDEX IF EXISTS products_named;
CREATE INDEX CONCURRENTLY products_named ON products (organisation_id, mode, lower(name) text_pattern_ops, id);
