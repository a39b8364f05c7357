// A customer with units of a feature, who holds some of them.
import type { Call, Reply } from '../../../support/server.ts';
import type { Fields, Setting } from '../setting.ts';

export class Holder {
  readonly #setting: Setting;
  readonly #feature: string;
  readonly customer: string;

  private constructor(setting: Setting, feature: string, customer: string) {
    this.#setting = setting;
    this.#feature = feature;
    this.customer = customer;
  }

  static async of(setting: Setting, grant: Fields, feature = 'tokens'): Promise<Holder> {
    const customer = await setting.customer();
    await setting.grant(customer, feature, grant);
    return new Holder(setting, feature, customer);
  }

  reserve(amount: number | string, fields: Fields = {}, call: Call = {}): Promise<Reply> {
    const body = { feature_key: this.#feature, customer_id: this.customer, amount, ...fields };
    return this.#setting.post('/reservations', body, call);
  }

  act(id: string, what: string, body?: Fields): Promise<Reply> {
    const call = body === undefined ? {} : { body };
    return this.#setting.server.call('POST', `/reservations/${id}/${what}`, call);
  }

  async read(id: string): Promise<Fields> {
    return (await this.#setting.server.call('GET', `/reservations/${id}`)).json as Fields;
  }

  /** `limit`, `consumed`, `reserved`, `balance`, `remaining`. */
  async seen(): Promise<(number | null)[]> {
    const { json } = await this.#setting.check(this.customer, this.#feature, { value: 0 });
    return [json.limit, json.consumed, json.reserved, json.balance, json.remaining];
  }
}
