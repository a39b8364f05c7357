// An invoice as it is printed: sheets of lines, of which most invoices have one.
import { Type } from '@sinclair/typebox';
import { breathe, type Timers } from '../../ledger/ports.ts';
import { INVOICE_LINES_MAX } from '../platform/answer-bounds.ts';
import type { Executor } from '../platform/postgres/postgres.ts';
import type { Html } from '../pages/html.ts';
import type { InvoiceSheet } from '../pages/invoice.ts';
import { shownLine } from '../pages/invoice-lines.ts';
import { type InvoiceRecord, listInvoiceLines } from '../records/invoices.ts';

export const SHEET_QUERY = {
  sheet: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100_000,
      default: 1,
      description: `The sheet of an invoice with more than ${INVOICE_LINES_MAX} lines. The first links to the others.`,
      error: 'must be a whole number from 1 to 100000',
    }),
  ),
};

/** Tiers of lines that are shown before other requests get a turn. */
const STEP_TIERS = 200;

type SheetDeps = { readonly sql: Executor; readonly timers: Timers };

/** null where it has no such sheet. */
export async function sheetOf(
  { sql, timers }: SheetDeps,
  invoice: InvoiceRecord,
  { sheet = 1 }: { readonly sheet?: number },
): Promise<InvoiceSheet | null> {
  const count = INVOICE_LINES_MAX;
  const sheets = Math.max(1, Math.ceil(invoice.lineCount / count));
  if (sheet > sheets) return null;
  const lines =
    sheet === 1
      ? invoice.lines
      : await listInvoiceLines(sql, invoice, { first: (sheet - 1) * count, count });
  const shown: Html[] = [];
  let tiers = 0;
  for (const line of lines) {
    tiers += 'tiers' in line ? line.tiers.length : 0;
    if (tiers >= STEP_TIERS) {
      tiers = 0;
      await breathe(timers);
    }
    shown.push(shownLine(line, invoice.currency));
  }
  return { ...invoice, lines, shown, part: { sheet, sheets } };
}
