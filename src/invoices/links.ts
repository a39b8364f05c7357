// Links to invoices in mails. Each opens one invoice, without a key.
//
// How it works: a token is the invoice's id and its MAC (HMAC-SHA-256, 256 bits), in base 62. The
// key of the MAC is derived from SECRETS_KEY. Nothing is stored: a mail that is sent again is the
// same mail, and a copy of the database opens nothing.
// Holds: nobody makes a token without SECRETS_KEY. A wrong token is refused before a query.
// Does not: expire. A link opens its invoice as long as that exists; another SECRETS_KEY ends all
// links at once.
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { fromBase62, toBase62 } from '../platform/crypto/tokens.ts';

const ID_BYTES = 16;
const MAC_BYTES = 32;
const PURPOSE = 'tollhouse link to an invoice';

export type InvoiceLinks = {
  tokenOf(invoiceId: string): string;
  /** The id of the token's invoice; null where the token is not valid. */
  invoiceOf(token: string): string | null;
};

export function openInvoiceLinks(secretsKey: Uint8Array): InvoiceLinks {
  const key = Buffer.from(hkdfSync('sha256', secretsKey, '', PURPOSE, MAC_BYTES));
  const macOf = (id: Buffer): Buffer => createHmac('sha256', key).update(id).digest();
  return {
    tokenOf(invoiceId) {
      const id = Buffer.from(invoiceId.replaceAll('-', ''), 'hex');
      return toBase62(Buffer.concat([id, macOf(id)]));
    },
    invoiceOf(token) {
      const bytes = fromBase62(token, ID_BYTES + MAC_BYTES);
      if (bytes === null) return null;
      const id = bytes.subarray(0, ID_BYTES);
      if (!timingSafeEqual(bytes.subarray(ID_BYTES), macOf(id))) return null;
      return id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
    },
  };
}
