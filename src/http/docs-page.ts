// The OpenAPI document as a page to read: no script, nothing loaded from elsewhere, so that it works offline and under a strict
// content security policy.
import { type Html, html } from '../pages/html.ts';
import { bounds, fields, type Schema, typeOf } from './docs-schema.ts';
import { webhookLinks, webhookSections } from './docs-webhooks.ts';
import type { Documented } from './document.ts';
import type { OpenApi } from './openapi.ts';

const STYLE = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { max-width: 60rem; margin: 0 auto; padding: 1rem 1rem 4rem; }
  nav ul { columns: 18rem; list-style: none; padding: 0; }
  section { border-top: 1px solid #8886; margin-top: 2rem; }
  code, h3 { font-family: ui-monospace, monospace; font-size: .9em; }
  h3 { font-size: 1.1rem; overflow-wrap: anywhere; }
  table { border-collapse: collapse; width: 100%; }
  th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid #8883; }
`;

export function docsPage(document: OpenApi): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      title: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  );
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>${document.info.title} API</title>
        <style>
          ${STYLE}
        </style>
      </head>
      <body>
        <h1>${document.info.title} API</h1>
        ${document.info.description.split('\n\n').map((paragraph) => html`<p>${paragraph}</p>`)}
        <p>
          The same for programs: <a href="/openapi.json">openapi.json</a> (OpenAPI
          ${document.openapi})
        </p>
        ${keysOf(document)}
        <nav>
          <ul>
            ${operations.map(
              ({ title }) =>
                html`<li>
                  <a href="#${anchor(title)}"><code>${title}</code></a>
                </li>`,
            )}
            ${webhookLinks(document)}
          </ul>
        </nav>
        ${document.tags.map(({ name }) => [
          html`<h2>${name}</h2>`,
          ...operations
            .filter(({ operation }) => operation.tags.includes(name))
            .map(({ title, operation }) => section(title, operation)),
        ])}
        ${webhookSections(document)}
      </body>
    </html>`;
  return page.text;
}

function keysOf({ components }: OpenApi): Html {
  const schemes = Object.entries(components.securitySchemes) as [string, Schema][];
  return html`<dl>
    ${schemes.map(
      ([name, { description }]) =>
        html`<dt>${name}</dt>
          <dd>${description ?? ''} Sent as <code>Authorization: Bearer</code>.</dd>`,
    )}
  </dl>`;
}

function section(title: string, operation: Documented): Html {
  const keys = operation.security.flatMap((scheme) => Object.keys(scheme));
  const body = operation.requestBody?.content['application/json']?.schema;
  return html`<section id="${anchor(title)}">
    <h3>${title}</h3>
    <p>${operation.summary}. ${operation.description ?? ''}</p>
    <p>Key: ${keys.length === 0 ? 'none' : keys.join(', ')}</p>
    ${operation.parameters.length === 0 ? null : parameters(operation)}
    ${
      body === undefined
        ? null
        : html`<h4>Body</h4>
            ${fields(body as Schema)}`
    }
    <h4>Answers</h4>
    ${Object.entries(operation.responses).map(([status, answer]) => {
      const [content] = Object.values(answer.content ?? {});
      const schema = content?.schema as Schema | undefined;
      const shown = schema?.properties === undefined ? null : fields(schema);
      return html`<p><strong>${status}</strong> ${answer.description}</p>
        ${shown}`;
    })}
  </section>`;
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
          <td>${notes.filter((note) => note !== '').join('; ')}</td>
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
