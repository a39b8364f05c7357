// What a buyer does in a browser, through the forms of the pages.

export type Buyer = {
  /** Pays a checkout. */
  pay(url: string, number: string): Promise<void>;
  /** Replaces the card in the portal. */
  replaceCard(url: string, number: string): Promise<void>;
  /** Sends a form of the portal, for the first subscription that allows it. */
  act(url: string, action: string): Promise<void>;
};

/**
 * Fills in the one form of a page that has this field, and sends it. Returns the page, or where it
 * redirected.
 */
async function send(url: string, field: string, typed: Readonly<Record<string, string>>) {
  const page = await fetch(url);
  const form = (await page.text())
    .split('<form')
    .find((part) => part.includes(`name="${field}"`))
    ?.split('</form>')[0];
  if (form === undefined) throw new Error(`${url} has no form with ${field}`);
  const hidden = [...form.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)];
  const fields = Object.fromEntries(hidden.map(([, name, value]) => [name, value]));
  const body = new URLSearchParams({ ...fields, ...typed } as Record<string, string>);
  const answer = await fetch(url, { method: 'POST', body, redirect: 'manual' });
  if (answer.status !== 303) {
    throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`);
  }
}

const card = (number: string) => ({
  payment_method: 'card',
  card_number: number,
  card_expiry: '12/34',
  card_cvc: '123',
});

async function act(url: string, action: string): Promise<void> {
  const page = await (await fetch(url)).text();
  const asked = new RegExp(`${action}\\?subscription_id=[\\w-]+`).exec(page)?.[0];
  if (asked === undefined) throw new Error(`${url} has no link to ${action}`);
  await send(`${url}/${asked}`, 'subscription_id', {});
}

/** Without a browser: cards are asked for by our own page. */
export const BY_FORMS: Buyer = {
  pay: (url, number) => send(url, 'card_number', card(number)),
  replaceCard: (url, number) => send(`${url}/payment-method`, 'attempt', card(number)),
  act,
};
