-- Whose a slug of a product is. It stays its organisation's when no product has it any more: a buy link that somebody keeps never leads
-- to what another organisation sells.
CREATE TABLE product_slugs (
  slug text NOT NULL,
  -- The first that had it, in either mode.
  organisation_id uuid NOT NULL,
  CONSTRAINT product_slugs_pkey PRIMARY KEY (slug),
  CONSTRAINT product_slugs_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id)
);
CREATE INDEX product_slugs_of_organisation ON product_slugs (organisation_id);

-- Of two organisations that want a slug at once the second waits for the first. What is refused is told as where a product has the slug:
-- a new product is not made, and a change fails by the constraint. A trigger, so that it holds for servers of before, too.
CREATE FUNCTION claim_product_slug() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO product_slugs (slug, organisation_id) VALUES (NEW.slug, NEW.organisation_id) ON CONFLICT DO NOTHING;
  IF EXISTS (SELECT FROM product_slugs s WHERE s.slug = NEW.slug AND s.organisation_id = NEW.organisation_id) THEN
    RETURN NEW;
  END IF;
  IF TG_OP = 'INSERT' THEN
    RETURN NULL;
  END IF;
  RAISE EXCEPTION 'the slug is of another organisation' USING ERRCODE = 'unique_violation', CONSTRAINT = 'products_slug_once';
END
$$;
CREATE TRIGGER products_claim_slug BEFORE INSERT OR UPDATE OF slug ON products
  FOR EACH ROW EXECUTE FUNCTION claim_product_slug();

INSERT INTO product_slugs (slug, organisation_id) SELECT slug, organisation_id FROM products;
