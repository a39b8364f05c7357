// What an organisation sells, and to whom.
import { slotOf } from './copier.ts';
import { CATALOGUE, type Filling } from './filling.ts';

export async function catalogue(of: Filling): Promise<void> {
  const { meter, product, discount } = of.originals;
  const { mark, isFirst } = of.owner;
  const at = `${of.now} - interval '400 days'`;
  const rows = `generate_series(${isFirst ? 1 : 0}, ${CATALOGUE - 1}) n`;
  const name = (kind: string) => `'${kind} ' || n`;
  const slug = (kind: string) => `'${kind}-${mark}-' || n`;
  await of.copier.run(`
    create temporary table ${mark}_meters as
    select n, case when ${isFirst} and n = 0 then '${meter}'::uuid else ${of.id('meter', 'n', at)} end as id
    from generate_series(0, ${CATALOGUE - 1}) n`);
  await of.copier.copy('meters', {
    like: `id = '${meter}'`,
    rows: `${mark}_meters where n >= ${isFirst ? 1 : 0}`,
    set: {
      ...of.own,
      id: 'given.id',
      name: name('Feature'),
      slug: slug('feature'),
      event_name: slug('feature'),
    },
  });
  const productId = of.id('product', 'n', at);
  await of.copier.copy('products', {
    like: `id = '${product}'`,
    rows,
    set: { ...of.own, id: productId, name: name('Plan'), slug: slug('plan') },
  });
  await of.copier.copy('prices', {
    like: `product_id = '${product}'`,
    rows,
    set: { id: of.id('price', 'n', at), product_id: productId },
  });
  await of.copier.copy('entitlements', {
    like: `product_id = '${product}'`,
    rows,
    set: { ...of.own, id: of.id('entitlement', 'n', at), product_id: productId },
  });
  await of.copier.copy('usage_prices', {
    like: `product_id = '${product}'`,
    rows,
    set: { ...of.own, id: of.id('usage price', 'n', at), product_id: productId },
  });
  await of.copier.copy('discounts', {
    like: `id = '${discount}'`,
    rows,
    set: { ...of.own, id: of.id('discount', 'n', at), code: slug('code') },
  });
}

/** `people` numbers the customers of the month's rows: the first one has the most. */
export async function customers(of: Filling): Promise<void> {
  const { customer } = of.originals;
  const { mark, isFirst } = of.owner;
  const { customers: count } = of.sizes;
  await of.copier.run(`
    create temporary table ${mark}_people as
    select n, id, ${slotOf('id')} as slot, created from (
      select n, created, case when ${isFirst} and n = 0 then '${customer}'::uuid else ${of.id('customer', 'n', 'created')} end as id
      from (select n, ${of.now} - interval '365 days' * (${count} - n) / ${count} as created
        from generate_series(0, ${count - 1}) n) numbered) named;
    create index on ${mark}_people (n);
    analyze ${mark}_people`);
  const others = `${mark}_people where n >= ${isFirst ? 1 : 0}`;
  await of.copier.copy('customers', {
    like: `id = '${customer}'`,
    rows: others,
    set: {
      ...of.own,
      id: 'given.id',
      external_customer_id: `'user-' || n`,
      email: `'user-' || n || '@example.com'`,
      name: `'Customer ' || n`,
      created_at: 'created',
      updated_at: 'created',
    },
  });
  await of.copier.copy('annotations', {
    like: `kind = 'tag' and object_type = 'customer'`,
    rows: others,
    set: {
      ...of.own,
      id: of.id('tag', 'n', 'created'),
      object_id: 'given.id',
      customer_id: 'given.id',
      name: `'tag-' || n % 100`,
    },
  });
}
