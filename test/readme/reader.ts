// Does what a page says, in its order: each command in a terminal, each step in a browser by the
// page's forms. What the page shows below a command is compared with its output; a command that
// shows nothing must print nothing.
import { expect } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../support/until.ts';
import {
  type Exchange,
  exchangesOf,
  type Part,
  patternOf,
  SAVED,
  snippetOf,
  trimmed,
} from './book.ts';
import type { Buyer } from './buyer.ts';
import type { Terminal } from './terminal.ts';

/**
 * Commands that change nothing, so that they can be repeated: an effect may show a moment later.
 */
const READS = /^(?:sort |call \/check (?!.*consume)|call [^ ]+(?: \||$))/;
/** From here on a file's program may be called. */
const LISTENS = /^\w+=.* npx bun@[\d.]+ [\w.]+ > [\w.]+ &$/;

export class Reader {
  /** Where files are saved. */
  readonly #directory: string;
  readonly #terminal: Terminal;
  readonly #ports: ReadonlyMap<string, number>;
  readonly #secrets: ReadonlyMap<string, string>;
  readonly #buyer: Buyer;
  /** The address that was printed last. */
  #address = '';
  #saveAs: string | undefined;
  /** What every program of the page begins with. */
  #beginning: string | undefined;
  readonly #did: string[] = [];

  constructor(of: {
    directory: string;
    terminal: Terminal;
    ports: ReadonlyMap<string, number>;
    /** What the reader has in the place of `NAME=beginning_...`, by that. */
    secrets: ReadonlyMap<string, string>;
    buyer: Buyer;
  }) {
    this.#directory = of.directory;
    this.#terminal = of.terminal;
    this.#ports = of.ports;
    this.#secrets = of.secrets;
    this.#buyer = of.buyer;
  }

  /** Commands, programs, and the words for what was done in a browser. */
  get did(): readonly string[] {
    return this.#did;
  }

  async read(parts: readonly Part[]): Promise<void> {
    for (const part of parts) {
      if (part.kind === 'text') await this.#visit(part.text);
      else if (part.language === 'sh')
        for (const exchange of exchangesOf(part.lines)) await this.#type(exchange);
      else if (this.#saveAs !== undefined) this.#save(this.#saveAs, part.lines);
      else if (part.language === 'js') await this.#run(part.lines);
    }
  }

  /** The page's ports, replaced by ports that are free here. */
  here(text: string): string {
    return text.replaceAll(/(localhost:|listen\()(\d+)/g, (whole, before, port) => {
      const free = this.#ports.get(port);
      return free === undefined ? whole : `${before}${free}`;
    });
  }

  #save(name: string, lines: readonly string[]): void {
    writeFileSync(join(this.#directory, name), this.here(lines.join('\n')));
    this.#saveAs = undefined;
  }

  /** The first one is what the others begin with. */
  async #run(lines: readonly string[]): Promise<void> {
    const { code, shown } = snippetOf(lines);
    this.#did.push(code);
    this.#beginning ??= code;
    if (this.#beginning === code) return;
    this.#save('snippet.mjs', [this.#beginning, code]);
    const printed = trimmed(await this.#terminal.run('KEY=$KEY bun snippet.mjs'));
    const pattern = patternOf(shown.map((line) => this.here(line)));
    if (pattern.exec(printed)?.[0] !== printed) {
      expect(`${code}\n${printed}`).toBe(`${code}\n${shown.join('\n')}`);
    }
    this.#address = /http:\S+/.exec(printed)?.[0] ?? this.#address;
  }

  async #visit(text: string): Promise<void> {
    this.#saveAs = SAVED.exec(text)?.[1] ?? this.#saveAs;
    for (const [words, step] of Object.entries(STEPS)) {
      if (!text.includes(words)) continue;
      await step(this.#buyer, this.#address);
      this.#did.push(words);
    }
  }

  async #type({ command, shown }: Exchange): Promise<void> {
    const filled = this.here(command).replace(
      /^\w+=\w+\.\.\.$/,
      (whole) => this.#secrets.get(whole) ?? whole,
    );
    const pattern = patternOf(shown.map((line) => this.here(line)));
    const isAsShown = async (): Promise<boolean> => {
      printed = trimmed(await this.#terminal.run(filled));
      return pattern.exec(printed)?.[0] === printed;
    };
    let printed = '';
    const give = () => expect(`${command}\n${printed}`).toBe(`${command}\n${shown.join('\n')}`);
    if (READS.test(command)) await until(command, isAsShown).catch(give);
    else if (!(await isAsShown())) give();
    this.#address = /http:\S+/.exec(printed)?.[0] ?? this.#address;
    if (LISTENS.test(command)) await this.#untilHeard();
    this.#did.push(command);
    await this.#expectSet(/^(\w+)=\$\(.*\)$/.exec(command)?.[1]);
  }

  /** A missing id would only show later. */
  async #expectSet(variable: string | undefined): Promise<void> {
    if (variable === undefined) return;
    expect([variable, await this.#terminal.run(`echo "$${variable}"`)]).toEqual([
      variable,
      expect.stringMatching(/./),
    ]);
  }

  async #untilHeard(): Promise<void> {
    const address = this.here('http://localhost:4000');
    await until('the receiver listens', () =>
      fetch(address, { method: 'POST' }).then(
        ({ status }) => status === 401,
        () => false,
      ),
    );
  }
}

/** What a page asks its reader to do in a browser, by its words. */
export const STEPS: Readonly<Record<string, (buyer: Buyer, address: string) => Promise<void>>> = {
  'pay with card 4242 4242 4242 4242': (buyer, address) => buyer.pay(address, '4242424242424242'),
  'subscribe with card 4000 0000 0000 0341': (buyer, address) =>
    buyer.pay(address, '4000000000000341'),
  'pay there with a card of yours': (buyer, address) => buyer.pay(address, '4242424242424242'),
  'add card 4242 4242 4242 4242': (buyer, address) =>
    buyer.replaceCard(address, '4242424242424242'),
  'Replace the card there with 4242 4242 4242 4242': (buyer, address) =>
    buyer.replaceCard(address, '4242424242424242'),
  'Pause the subscription there, and resume it': async (buyer, address) => {
    await buyer.act(address, 'pause');
    await buyer.act(address, 'resume');
  },
};
