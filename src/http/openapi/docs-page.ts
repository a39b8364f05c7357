// The OpenAPI document as a page: no script and no external resources, so it works offline and
// under a strict content security policy.
import { type Html, html } from '../../pages/html.ts';
import { layout, type Page } from '../../pages/layout.ts';
import { stylesheet } from '../../pages/styles.ts';
import {
  bounds,
  examples,
  fields,
  prose,
  resolve,
  type Schema,
  schemaSections,
  type Schemas,
  typeOf,
} from './docs-schema.ts';
import { webhookContents, webhookSections } from './docs-webhooks.ts';
import type { Documented } from './document.ts';
import type { OpenApi } from './openapi.ts';

const STYLESHEET = stylesheet(`
  .docs { max-width: 62rem; display: block; }
  .docs > * + *, .docs section > * + *, .docs nav > * + * { margin-top: .9rem; }
  .docs h2 { font-size: 1.35rem; margin-top: 3rem; letter-spacing: -.01em; }
  .docs h3 { margin: 0; font: 600 1rem/1.4 var(--mono); }
  .docs h4 { margin: 1.25rem 0 0; font-size: .8rem; letter-spacing: .04em; text-transform: uppercase; color: var(--muted); }
  .docs code { font-family: var(--mono); font-size: .86em; }
  .docs p code, .docs dd code { background: var(--soft); border-radius: .3rem; padding: .05rem .3rem; }
  .docs nav { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 19rem), 1fr)); gap: 1.5rem 2rem; margin-top: 2rem; }
  .docs nav > * + * { margin-top: 0; }
  .docs nav h2 { font-size: 1rem; margin: 0 0 .35rem; }
  .docs nav a { text-decoration: none; }
  .docs nav a:hover { text-decoration: underline; }
  .docs section { background: var(--card); border: 1px solid var(--line); border-radius: .8rem; padding: 1.1rem 1.25rem;
    margin-top: 1rem; scroll-margin-top: 1rem; }
  .docs section:target { border-color: var(--accent); }
  .docs table { border-collapse: collapse; width: 100%; font-size: .92rem; }
  .docs td { text-align: start; vertical-align: top; padding: .35rem .75rem .35rem 0; border-top: 1px solid var(--line); }
  .docs td:nth-child(2), .docs td:nth-child(3) { color: var(--muted); overflow-wrap: break-word; }
  .docs pre { background: var(--soft); border-radius: .5rem; padding: .75rem 1rem; overflow-x: auto; font: .86em/1.5 var(--mono); }
  .docs dt { font-weight: 600; margin-top: .5rem; }
`);

type Named = { readonly title: string; readonly operation: Documented };

export function docsPage(document: OpenApi): Page {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      title: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  );
  const groups = document.tags.map(({ name, description }) => ({
    name,
    description,
    members: operations.filter(({ operation }) => operation.tags.includes(name)),
  }));
  const { title, description: about } = document.info;
  const body = html`<main class="page docs">
    <h1>${title} API</h1>
    ${paragraphs(about)}
    <p>
      The same for programs: <a href="/openapi.json">openapi.json</a> (OpenAPI ${document.openapi})
    </p>
    ${keysOf(document)}
    <nav aria-label="Contents">
      ${groups.map(({ name, members }) => contents(name, members))} ${webhookContents(document)}
    </nav>
    ${groups.map(({ name, description, members }) => [
      html`<h2>${name}</h2>
        <p>${prose(description)}</p>`,
      ...members.map((member) => section(member, document.components.schemas)),
    ])}
    ${webhookSections(document)}
    <h2>Schemas</h2>
    ${schemaSections(document.components.schemas)}
  </main>`;
  return layout({ title: `${title} API`, body, stylesheet: STYLESHEET });
}

function contents(name: string, members: readonly Named[]): Html {
  return html`<div>
    <h2>${name}</h2>
    <ul>
      ${members.map(
        ({ title }) =>
          html`<li>
            <a href="#${anchor(title)}"><code>${title}</code></a>
          </li>`,
      )}
    </ul>
  </div>`;
}

function keysOf({ components }: OpenApi): Html {
  const schemes = Object.entries(components.securitySchemes) as [string, Schema][];
  return html`<dl>
    ${schemes.map(
      ([name, { description }]) =>
        html`<dt>${name}</dt>
          <dd>${prose(description ?? '')} Sent as <code>Authorization: Bearer</code>.</dd>`,
    )}
  </dl>`;
}

function section({ title, operation }: Named, schemas: Schemas): Html {
  const keys = operation.security.flatMap((scheme) => Object.keys(scheme));
  const needed = operation['x-scopes'];
  const scopes = needed === undefined ? '' : `, with the scope ${needed.join(' or ')}`;
  const given = operation.requestBody?.content['application/json']?.schema;
  const body = given && resolve(given as Schema, schemas);
  return html`<section id="${anchor(title)}">
    <h3>${title}</h3>
    ${paragraphs(`${operation.summary}. ${operation.description ?? ''}`)}
    <p>Key: ${keys.length === 0 ? 'none' : keys.join(', ')}${scopes}</p>
    ${operation.parameters.length === 0 ? null : parameters(operation)}
    ${
      body === undefined
        ? null
        : html`<h4>Body</h4>
            ${fields(body)} ${examples(body)}`
    }
    <h4>Answers</h4>
    ${Object.entries(operation.responses).map(([status, answer]) => {
      const types = Object.values(answer.content ?? {}).map(
        ({ schema }) => html` ${typeOf(schema as Schema)}`,
      );
      return html`<p>
        <strong>${status}</strong> ${prose(answer.description)}${types} ${prose(headersOf(answer))}
      </p>`;
    })}
  </section>`;
}

function paragraphs(text: string): Html[] {
  return text.split('\n\n').map((paragraph) => html`<p>${prose(paragraph)}</p>`);
}

/** The headers of a response, beyond `x-request-id`, which every response may have. */
function headersOf({ headers }: Documented['responses'][string]): string {
  const names = Object.keys(headers).filter((name) => name !== 'x-request-id');
  return names.length === 0 ? '' : `, with ${names.map((name) => `\`${name}\``).join(', ')}`;
}

function parameters({ parameters: list }: Documented): Html {
  return html`<h4>Parameters</h4>
    <table>
      ${list.map((parameter) => {
        const notes = [parameter.description, ...bounds(parameter.schema as Schema)];
        return html`<tr>
          <td><code>${parameter.name}</code></td>
          <td>${parameter.in}</td>
          <td>${typeOf(parameter.schema as Schema)}</td>
          <td>${prose(notes.filter((note) => note !== '').join('; '))}</td>
        </tr>`;
      })}
    </table>`;
}

function anchor(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/-$/, '');
}
