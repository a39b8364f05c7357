import type { Table } from './resource.ts';

export const products = {
  /** Create a product, with its prices. */
  create: 'createProduct',
  /** List products, newest first. */
  list: 'listProducts',
  /** Get a product with all its prices. */
  retrieve: 'getProduct',
  /** Change a product. */
  update: 'updateProduct',
  /** Archive a product. */
  archive: 'archiveProduct',
  /** Publish a product. */
  publish: 'publishProduct',
  /** Add a price to a product. */
  createPrice: 'createPrice',
  /** Archive a price. */
  archivePrice: 'archivePrice',
  /** Attach a feature to a product. */
  createFeature: 'attachFeature',
  /** List the features of a product, in the order in which they were attached. */
  listFeatures: 'listFeatures',
  /** Detach a feature from a product. */
  deleteFeature: 'detachFeature',
  /** Add a usage price to a product. */
  createUsagePrice: 'createUsagePrice',
  /** List the usage prices of a product, newest first. */
  listUsagePrices: 'listUsagePrices',
  /** Archive a usage price. */
  archiveUsagePrice: 'archiveUsagePrice',
} as const satisfies Table;
