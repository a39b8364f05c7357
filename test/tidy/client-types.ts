// The schemas of the document as types of TypeScript, with camelCase names.
import { assert } from '../../ledger/kernel/assert.ts';
import { toCamel } from '../../src/client/casing.ts';

export type Schema = {
  readonly $ref?: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
};

/** What callers give may be readonly. */
type Way = 'given' | 'answered';

const LINE_MAX = 90;

export class Types {
  readonly #schemas: Readonly<Record<string, Schema>>;
  readonly #reached = new Map<string, Way>();
  /** Each field, and whether callers name what is in it. */
  readonly #fields = new Map<string, boolean>();

  constructor(schemas: Readonly<Record<string, Schema>>) {
    this.#schemas = schemas;
    for (const schema of Object.values(schemas)) this.#gather(schema);
  }

  /** The names of all fields, as on the wire. */
  names(): string[] {
    return [...this.#fields.keys()];
  }

  namedByCallers(): string[] {
    return [...this.#fields].filter(([, isFree]) => isFree).map(([name]) => name);
  }

  /** Notes what is needed of the named schemas. One that goes both ways is as it is given. */
  reach(schema: Schema, way: Way): void {
    for (const [, name = ''] of JSON.stringify(schema).matchAll(/#\/components\/schemas\/(\w+)/g)) {
      const known = this.#reached.get(name);
      if (known === 'given' || known === way) continue;
      this.#reached.set(name, way);
      this.reach(this.#schemas[name]!, way);
    }
  }

  /** The types of what was reached, by name. A list is its items. */
  declarations(): string[] {
    return [...this.#reached]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .filter(([name]) => this.itemOf({ $ref: `/${name}` }) === null)
      .map(([name, way]) => {
        const schema = this.#schemas[name]!;
        return `${this.doc([schema.description])}export type ${name} = ${this.of(schema, way)};`;
      });
  }

  /** The schema of a list's items; null where it is no list. */
  itemOf(schema: Schema): Schema | null {
    const { properties } = this.#resolve(schema);
    return properties?.['has_more'] === undefined ? null : (properties['data']?.items ?? null);
  }

  of(schema: Schema, way: Way): string {
    const { $ref, anyOf, oneOf, type = [] } = schema;
    if ($ref !== undefined) return nameOf($ref);
    if (Object.keys(schema).length === 0) return 'unknown';
    if (schema.const !== undefined) return JSON.stringify(schema.const);
    if (schema.enum !== undefined)
      return schema.enum.map((word) => JSON.stringify(word)).join(' | ');
    const members =
      anyOf !== undefined || oneOf !== undefined
        ? [...(anyOf ?? []), ...(oneOf ?? [])].map((member) => this.of(member, way))
        : [type].flat().map((name) => this.#ofType(name, schema, way));
    assert(members.length > 0, `${JSON.stringify(schema)} has a type`);
    return [...new Set(members)].join(' | ');
  }

  /** A comment, or nothing. Fields that it names are called as the client calls them. */
  doc(parts: readonly (string | undefined)[], isDeprecated = false): string {
    const lines = parts
      .filter((part) => part !== undefined)
      .join('\n\n')
      .split('\n')
      .map((line) => line.replaceAll(/`(\w+)`/g, (_, word: string) => `\`${this.#worded(word)}\``))
      .flatMap(wrapped);
    if (isDeprecated) lines.push('@deprecated');
    if (lines.every((line) => line === '')) return '';
    if (lines.length === 1) return `/** ${lines[0]} */\n`;
    return `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`;
  }

  #worded(word: string): string {
    return this.#fields.has(word) ? toCamel(word) : word;
  }

  #ofType(type: string, schema: Schema, way: Way): string {
    switch (type) {
      case 'integer':
      case 'number':
        return 'number';
      case 'string':
      case 'boolean':
      case 'null':
        return type;
      case 'array': {
        const item = this.of(schema.items ?? {}, way);
        const list = /\W/.test(item) ? `(${item})[]` : `${item}[]`;
        return way === 'given' ? `readonly ${list}` : list;
      }
      default:
        assert(type === 'object', `${type} is a type`);
        return this.#ofObject(schema, way);
    }
  }

  #ofObject({ properties, required = [], additionalProperties }: Schema, way: Way): string {
    if (properties === undefined) {
      assert(typeof additionalProperties === 'object', 'an object has fields');
      const values = `Record<string, ${this.of(additionalProperties, way)}>`;
      return way === 'given' ? `Readonly<${values}>` : values;
    }
    const fields = Object.entries(properties).map(([name, field]) => {
      const doc = this.doc([field.description], field.deprecated);
      const mark = required.includes(name) ? '' : '?';
      return `${doc}${toCamel(name)}${mark}: ${this.of(field, way)};`;
    });
    return `{\n${fields.join('\n')}\n}`;
  }

  #resolve(schema: Schema): Schema {
    return schema.$ref === undefined ? schema : this.#schemas[nameOf(schema.$ref)]!;
  }

  #isRecord(schema: Schema): boolean {
    const { properties, additionalProperties, anyOf = [] } = this.#resolve(schema);
    const isOpen = properties === undefined && typeof additionalProperties === 'object';
    return isOpen || anyOf.some((member) => this.#isRecord(member));
  }

  #gather(schema: Schema): void {
    const { properties = {}, anyOf = [], oneOf = [], items, additionalProperties } = schema;
    for (const [name, field] of Object.entries(properties)) {
      const isFree = this.#isRecord(field);
      const other = this.#fields.get(name);
      assert(other === undefined || other === isFree, `${name} is one thing`);
      this.#fields.set(name, isFree);
    }
    const within = [...Object.values(properties), ...anyOf, ...oneOf];
    if (items !== undefined) within.push(items);
    if (typeof additionalProperties === 'object') within.push(additionalProperties);
    for (const part of within) this.#gather(part);
  }
}

function nameOf(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1);
}

function wrapped(text: string): string[] {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!;
    if (line !== '' && line.length + word.length >= LINE_MAX) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}
