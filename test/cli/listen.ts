// What `tollhouse listen` and `tollhouse events tail` do, with a real receiver. The same in this
// process and in one of its own.
import { afterEach, expect, test } from 'bun:test';
import { Webhook } from 'standardwebhooks';
import { startProxy } from '../support/proxy.ts';
import { buy, sell } from '../support/shop.ts';
import type { TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import type { Running, RunOptions, Setting } from './runner.ts';

type Heard = { readonly id: string; readonly type: string; readonly data: Record<string, unknown> };

/** Takes what is signed with its secret; refuses what `isRefused` says. */
class Receiver {
  readonly heard: Heard[] = [];
  attempts = 0;
  secret = '';
  isRefused: (event: Heard) => boolean = () => false;
  readonly #http = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      this.attempts += 1;
      const headers = Object.fromEntries(request.headers.entries());
      const event = new Webhook(this.secret).verify(await request.text(), headers) as Heard;
      if (this.isRefused(event)) return new Response('no', { status: 500 });
      this.heard.push(event);
      return new Response('ok');
    },
  });

  get url(): string {
    return `http://127.0.0.1:${this.#http.port}/hooks`;
  }

  get names(): unknown[] {
    return this.heard.map(({ data }) => data['externalCustomerId']);
  }

  stop(): Promise<void> {
    return this.#http.stop(true);
  }
}

class Listening {
  readonly receiver: Receiver;
  readonly running: Running;

  constructor(receiver: Receiver, running: Running) {
    this.receiver = receiver;
    this.running = running;
  }

  /** What it has said, line by line. */
  get rows(): ReturnType<typeof JSON.parse>[] {
    const lines = this.running.said.split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line));
  }

  /** Until it listens from now on. */
  async begun(): Promise<this> {
    await until('it listens', () => this.rows.length > 0);
    this.receiver.secret = this.rows[0].secret;
    return this;
  }
}

/** `second`: one more node, which the test stops. */
type Listens = Setting & { readonly second?: () => Promise<TestServer> };

/** `cases`: those of a payment alone, or all. */
export function forwardsEvents(of: () => Listens, cases: 'payment' | 'all' = 'all'): void {
  const receivers: Receiver[] = [];
  const all: Running[] = [];
  afterEach(async () => {
    for (const running of all.splice(0)) {
      running.interrupt();
      await running.ended;
    }
    for (const receiver of receivers.splice(0)) await receiver.stop();
  });

  const started = (running: Running): Running => {
    all.push(running);
    return running;
  };

  function listen(args: readonly string[] = [], options: RunOptions = {}): Promise<Listening> {
    const receiver = new Receiver();
    receivers.push(receiver);
    const line = ['listen', '--forward-to', receiver.url, '--json', ...args];
    return new Listening(receiver, started(of().runner.start(line, options))).begun();
  }

  const makeCustomer = (name: string) =>
    of().server.call('POST', '/customers', { body: { external_customer_id: name } });

  test('tollhouse listen forwards the events of a payment, signed, and prints a summary at the end', async () => {
    const listening = await listen();
    const { receiver } = listening;
    const seller = { url: of().server.url, key: of().server.organisation.testKey };
    const product_id = await sell(seller, { USD: '9.00' });
    await buy(seller, { product_id, means: ['good'] });
    const types = () => new Set(receiver.heard.map(({ type }) => type));
    await until('the payment is heard of', () => types().has('payment.succeeded'));
    await until('the invoice too', () => types().has('invoice.created'));
    const listed = (await of().server.call('GET', '/events?type=payment.succeeded&limit=1')).json
      .data[0];
    expect(receiver.heard.find(({ id }) => id === listed.id)).toEqual(listed);
    listening.running.interrupt();
    expect((await listening.running.ended).exitCode).toBe(0);
    const { rows } = listening;
    const deliveries = rows.slice(1, -1);
    expect(rows.at(-1)).toEqual({ kind: 'summary', delivered: deliveries.length, failed: 0 });
    expect(deliveries.map(({ event_id }) => event_id)).toEqual(receiver.heard.map(({ id }) => id));
    expect(deliveries[0]).toEqual({
      kind: 'delivery',
      event_id: receiver.heard[0]!.id,
      event_type: receiver.heard[0]!.type,
      object_id: receiver.heard[0]!.data['objectId'],
      status: 'delivered',
      status_code: 200,
      error: null,
      attempts: 1,
      duration_ms: expect.any(Number),
    });
  });

  if (cases === 'payment') return;

  test('tollhouse listen asks a receiver that refuses again, in order, and then sends the next event', async () => {
    const listening = await listen();
    const { receiver } = listening;
    let refusals = 0;
    receiver.isRefused = ({ data }) => {
      if (data['externalCustomerId'] === 'never') return true;
      return data['externalCustomerId'] === 'late' && ++refusals <= 2;
    };
    for (const name of ['late', 'never', 'last']) await makeCustomer(name);
    await until('the last', () => receiver.names.includes('last'));
    expect(receiver.names).toEqual(['late', 'last']);
    await until('it is told', () => listening.rows.length === 4);
    expect(listening.rows.slice(1)).toMatchObject([
      { status: 'delivered', attempts: 3 },
      { status: 'failed', attempts: 4, status_code: 500 },
      { status: 'delivered', attempts: 1 },
    ]);
  });

  test('tollhouse listen goes on while its receiver is not there', async () => {
    const listening = await listen();
    const { receiver } = listening;
    await receiver.stop();
    await makeCustomer('unheard');
    await until('it is told', () => listening.rows.length === 2);
    const [, row] = listening.rows;
    expect(row).toMatchObject({ status: 'failed', status_code: null, attempts: 4 });
    expect(row.error).toMatch(/ECONNREFUSED|ConnectionRefused|Unable to connect/);
  });

  test('tollhouse listen misses and repeats no event over connections that break', async () => {
    const { server, second } = of();
    const first = (await second?.()) ?? server;
    let target = first;
    const proxy = await startProxy('http://127.0.0.1', () => target.url);
    const env = { TOLLHOUSE_URL: proxy.url };
    const { receiver } = await listen(['--events', 'customer.created'], { env });
    const names: string[] = [];
    const make = async () => {
      const name = `kept-${names.length}`;
      names.push(name);
      await makeCustomer(name);
    };
    // Before it heard of any event, too.
    proxy.detach();
    await make();
    proxy.attach();
    await until('the first', () => receiver.names.length === 1);
    for (let cut = 0; cut < 5; cut += 1) {
      await make();
      proxy.cut();
      await make();
    }
    proxy.detach();
    if (first !== server) await first.stop();
    target = server;
    for (let n = 0; n < 10; n += 1) await make();
    proxy.attach();
    await make();
    await until('all of them', () => receiver.names.length >= names.length);
    expect(receiver.names).toEqual(names);
    await proxy.stop();
  });

  test('tollhouse listen takes --events, --secret and --print-secret', async () => {
    const printed = await of().runner.run(['listen', '--print-secret']);
    expect(printed.stdout).toMatch(/^whsec_[\w+/]{32}\n$/);
    const secret = printed.stdout.trim();
    const args = ['--secret', secret, '--events', 'tag.created, customer.created'];
    const { receiver } = await listen(args);
    expect(receiver.secret).toBe(secret);
    const { id } = (await makeCustomer('tagged')).json;
    await of().server.call('PATCH', `/customers/${id}`, { body: { name: 'Renamed' } });
    const body = { object_type: 'customer', object_id: id, name: 'vip' };
    await of().server.call('POST', '/tags', { body });
    await until('the tag', () => receiver.heard.some(({ type }) => type === 'tag.created'));
    expect(receiver.heard.map(({ type }) => type)).toEqual(['customer.created', 'tag.created']);
  });

  test('tollhouse listen prints for people a line for each event, and the summary', async () => {
    const receiver = new Receiver();
    receivers.push(receiver);
    const { stdout: secret } = await of().runner.run(['listen', '--print-secret']);
    receiver.secret = secret.trim();
    const args = ['listen', '--forward-to', receiver.url, '--secret', receiver.secret];
    const { id } = (await of().server.call('GET', '/events?limit=1')).json.data[0];
    const running = started(of().runner.start([...args, '--after', id]));
    await makeCustomer('shown');
    await until('it is heard of', () => receiver.heard.length === 1);
    await until('it is told', () => running.said.includes('customer.created'));
    running.interrupt();
    const [forwarding, delivered, summary] = (await running.ended).stdout.trim().split('\n');
    expect(forwarding).toBe(`forwarding to ${receiver.url}, signed with ${receiver.secret}`);
    expect(delivered).toMatch(
      /^\d\d:\d\d:\d\d {2}customer\.created +CUSTOMER +[\da-f-]{36} {2}200 {2}\d+ ms$/,
    );
    expect(summary).toBe('1 delivered, 0 failed');
  });

  test.each([
    [['listen'], 2, 'listen needs --forward-to'],
    [['listen', '--forward-to', 'localhost:4000'], 2, '--forward-to must be an address'],
    [['listen', '--forward-to', 'http://x', '--secret', 'abc'], 2, '--secret must be whsec_'],
    [
      ['listen', '--forward-to', 'http://x', '--events', 'payment.suceeded'],
      2,
      'is no type of event',
    ],
    [['events', 'tail', '--after', '01a20599-f2c2-724c-a5d4-1dec661ee7f7'], 1, 'invalid_request: '],
    [['events', 'tail', '--api-key', 'svc_test_wrong'], 1, 'unauthorized: '],
  ])('tollhouse listen refuses %j', async (args, code, message) => {
    const { exitCode, stderr } = await of().runner.run(args);
    expect([exitCode, stderr.trim().split('\n').length]).toEqual([code, 1]);
    expect(stderr).toContain(message);
  });

  test('tollhouse events tail prints what GET /events shows, until Ctrl-C', async () => {
    const { server, runner } = of();
    const { id } = (await server.call('GET', '/events?limit=1')).json.data[0];
    for (const name of ['tail-1', 'tail-2']) await makeCustomer(name);
    const running = started(runner.start(['events', 'tail', '--after', id, '--json']));
    await until('it shows both', () => running.said.split('\n').length === 3);
    running.interrupt();
    const { exitCode, stdout, stderr } = await running.ended;
    const [event, next] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect((await server.call('GET', `/events/${event.id}`)).json).toEqual(event);
    expect([event, next].map(({ data }) => data.externalCustomerId)).toEqual(['tail-1', 'tail-2']);
    expect([exitCode, stderr]).toEqual([0, '']);
  });
}
