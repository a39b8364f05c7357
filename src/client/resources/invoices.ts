import type { Table } from './resource.ts';

export const invoices = {
  /** Bill a customer. */
  create: 'createInvoice',
  /** List invoices, newest first. */
  list: 'listInvoices',
  /** Get an invoice. */
  retrieve: 'getInvoice',
  /** List the lines of an invoice, in their order. */
  listLines: 'listInvoiceLines',
  /** Issue a draft. */
  finalizeInvoice: 'finalizeInvoice',
  /** Charge an invoice now. */
  pay: 'payInvoice',
  /** Void an invoice that is not paid. */
  voidInvoice: 'voidInvoice',
  /** Download the usage behind an invoice, as CSV. */
  usage: 'downloadInvoiceUsage',
  /** Get an invoice to print. */
  print: 'printInvoice',
} as const satisfies Table;
