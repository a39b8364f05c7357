// Alerts over HTTP, and what is told of them.
import { expect } from 'bun:test';
import type { Reply, ServerOptions } from '../../support/server.ts';
import { type Fields, Setting } from '../metering/setting.ts';

export class Watching {
  readonly setting: Setting;
  #meters = 0;

  private constructor(setting: Setting) {
    this.setting = setting;
  }

  /** With an endpoint that hears everything, unless `isHeard` is false. */
  static async open(options: ServerOptions = {}, { isHeard = true } = {}): Promise<Watching> {
    const watching = new Watching(await Setting.open(options));
    if (isHeard) await watching.hear(['*']);
    return watching;
  }

  async hear(types: readonly string[]): Promise<void> {
    const endpoint = { url: 'https://hooks.example/a', event_types: types };
    expect((await this.setting.post('/webhook-endpoints', endpoint)).status).toBe(201);
  }

  /** A new meter. */
  async feature(fields: Fields = {}): Promise<string> {
    const slug = `watched-${(this.#meters += 1)}`;
    await this.setting.meter(slug, fields);
    return slug;
  }

  create(feature: string, body: Fields): Promise<Reply> {
    return this.setting.post('/alerts', { feature_key: feature, ...body });
  }

  /** The new alert. */
  async alert(feature: string, body: Fields): Promise<Fields & { readonly id: string }> {
    const { status, text, json } = await this.create(feature, body);
    if (status !== 201) throw new Error(`${status} ${text}`);
    return json;
  }

  async use(customer: string, feature: string, value: number): Promise<void> {
    expect((await this.setting.track(customer, feature, { value })).status).toBe(200);
  }

  /** What was told of a customer's feature, oldest first: the data of each event. */
  async events(customer: string, feature: string): Promise<Fields[]> {
    return this.setting.server.sql<Fields[]>`
      select type, data from events
      where account_id = ${customer} and type like 'alert.%' and data ->> 'featureKey' = ${feature}
      order by sequence`;
  }

  /** How many alerts were told to have triggered, of whomever. */
  async count(): Promise<number> {
    const [row] = await this.setting.server.sql<{ count: bigint }[]>`
      select count(*) from events where type = 'alert.triggered'`;
    return Number(row?.count);
  }

  /** The same, short: `triggered usage 80`, `initial usage 80`, `recovered usage 80`. */
  async told(customer: string, feature: string): Promise<string[]> {
    return (await this.events(customer, feature)).map((event) => {
      const data = event['data'] as Fields;
      const kind = data['initial'] === true ? 'initial' : String(event['type']).slice(6);
      return `${kind} ${String(data['alertType'])} ${String(data['threshold'])}`;
    });
  }

  async triggered(customer: string): Promise<string[]> {
    const { status, json } = await this.setting.server.call('GET', `/customers/${customer}/alerts`);
    expect(status).toBe(200);
    return (json.data as Fields[])
      .filter(({ triggered }) => triggered === true)
      .map(({ type, threshold }) => `${String(type)} ${String(threshold)}`);
  }

  stop(): Promise<void> {
    return this.setting.stop();
  }
}
