// A schema as a table. What has a name is a link to its own table.
import { type Html, html } from '../../pages/html.ts';

export type Schema = {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly $ref?: string;
  readonly examples?: unknown;
} & Readonly<Record<string, unknown>>;

/** Those of the document, by name. */
export type Schemas = Readonly<Record<string, unknown>>;

/** Text with marks in it. */
type Text = readonly (string | Html | Text)[];

/** Keywords that are shown as they are. */
const BOUNDS = [
  'format',
  'default',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'maxItems',
  'maxProperties',
];

/** The schema that a reference stands for, or the schema itself. */
export function resolve({ $ref: ref, ...beside }: Schema, schemas: Schemas): Schema {
  return ref === undefined ? beside : { ...(schemas[nameIn(ref)] as Schema), ...beside };
}

export function fields(schema: Schema): Html {
  return html`<table>
    ${Object.entries(schema.properties ?? {}).map(([name, field]) => {
      const isRequired = schema.required?.includes(name) === true;
      const notes = [field.description?.replace(/\.$/, '') ?? '', ...bounds(field)].filter(
        (note) => note !== '',
      );
      return html`<tr>
        <td><code>${name}</code></td>
        <td>${typeOf(field)}</td>
        <td>${isRequired ? 'required' : 'optional'}</td>
        <td>${prose(notes.join('; '))}</td>
      </tr>`;
    })}
  </table>`;
}

/** Every named schema, each below its name. */
export function schemaSections(schemas: Schemas): Html[] {
  return (Object.entries(schemas) as [string, Schema][]).map(
    ([name, schema]) =>
      html`<section id="${anchorOf(name)}">
        <h3>${name}</h3>
        ${schema.description === undefined ? null : html`<p>${prose(schema.description)}</p>`}
        ${schema.properties === undefined ? html`<p>${typeOf(schema)}</p>` : fields(schema)}
      </section>`,
  );
}

/** Values that fit, where the schema has some. */
export function examples(schema: Schema): Html[] {
  const all: unknown[] = Array.isArray(schema.examples) ? schema.examples : [];
  return all.map((value) => html`<pre>${JSON.stringify(value, null, 2)}</pre>`);
}

/** Text in which what stands between backticks is code. */
export function prose(text: string): readonly (string | Html)[] {
  return text
    .split('`')
    .map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));
}

export function bounds(schema: Schema): string[] {
  return BOUNDS.filter((keyword) => keyword in schema).map(
    (keyword) => `${keyword} ${JSON.stringify(schema[keyword])}`,
  );
}

/** A type in a few words: `"sum" | "count"`, `string | null`, `{id: string}[]`. */
export function typeOf(schema: Schema): Text {
  const { $ref: ref, anyOf, oneOf, enum: words, items, properties } = schema;
  if (ref !== undefined) {
    const name = nameIn(ref);
    return [html`<a href="#${anchorOf(name)}">${name}</a>`];
  }
  const alternatives = anyOf ?? oneOf;
  if (alternatives !== undefined) return either(alternatives.map(typeOf));
  if (words !== undefined) return either(words.map((word) => [JSON.stringify(word)]));
  if (schema.const !== undefined) return [JSON.stringify(schema.const)];
  if (schema.type === 'array') return [typeOf(items ?? {}), '[]'];
  if (typeof schema.additionalProperties === 'object') {
    return ['object of ', typeOf(schema.additionalProperties), 's'];
  }
  if (properties !== undefined) {
    const members = Object.entries(properties).map(([name, field]) => {
      const mark = schema.required?.includes(name) === true ? '' : '?';
      return [`${name}${mark}: `, typeOf(field)];
    });
    return ['{', joined(members, ', '), '}'];
  }
  const { type = 'anything' } = schema;
  return [typeof type === 'string' ? type : type.join(' | ')];
}

function either(alternatives: readonly Text[]): Text {
  return joined(alternatives, ' | ');
}

function joined(parts: readonly Text[], between: string): Text {
  return parts.flatMap((part, index) => (index === 0 ? [part] : [between, part]));
}

function nameIn(ref: string): string {
  return ref.split('/').at(-1) ?? '';
}

function anchorOf(name: string): string {
  return `schema-${name}`;
}
