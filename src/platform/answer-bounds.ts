// What one answer may hold at most. The whole table.
//
// Who reads it: lists and their portions (src/http/list.ts, src/http/page-text.ts), the lists
// within answers (balances, grants, invoices), the pages of the dashboard and the portal.
// Holds: an answer that is larger would hold every caller of the node up while it is built. What
// does not fit is behind a cursor, and is not read before it is asked for.

/** Of the body of an answer. */
export const ANSWER_BYTES_MAX = 1 << 20;

/**
 * Of the rows of a page: half an answer, because a page of the dashboard reads several lists, and
 * each is parsed in one turn.
 */
export const PAGE_BYTES_MAX = ANSWER_BYTES_MAX / 2;

/**
 * Of a row of a series of usage by groups, at least, without the name of its group: as JSON with
 * figures of one digit. More rows than an answer holds of these are not read.
 */
export const GROUPED_ROW_BYTES = 100;

/** Balances and live grants of a customer in one answer. */
export const CUSTOMER_ROWS_MAX = 1000;

/** Grants that a balance shows of its breakdown. */
export const BREAKDOWN_MAX = 100;

/** Entries that the credit of a customer shows in a currency. */
export const CREDIT_ENTRIES_MAX = 50;

/** Lines that an invoice shows. As many as can be put on one by hand. */
export const INVOICE_LINES_MAX = 100;
