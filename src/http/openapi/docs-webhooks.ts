// The webhooks on the documentation page: what every delivery has, then what each type says.
import { EVENT_TYPES } from '../../records/events.ts';
import { type Html, html } from '../../pages/html.ts';
import { fields, prose, resolve, type Schema, type Schemas } from './docs-schema.ts';
import type { OpenApi } from './openapi.ts';
import type { Webhook } from './webhooks.ts';
import { EVENT_ENVELOPE } from '../wire/payloads/envelopes.ts';

const ENVELOPE = EVENT_ENVELOPE as unknown as Schema;
const COMMON = ENVELOPE.properties?.['data'] ?? {};

export function webhookContents({ webhooks }: OpenApi): Html {
  return html`<div>
    <h2>Webhook events</h2>
    <ul>
      ${Object.keys(webhooks).map(
        (type) =>
          html`<li>
            <a href="#${anchor(type)}"><code>${type}</code></a>
          </li>`,
      )}
    </ul>
  </div>`;
}

export function webhookSections({ webhooks, components: { schemas } }: OpenApi): Html {
  const { parameters = [] } = webhooks[EVENT_TYPES[0]]?.post ?? {};
  return html`<h2>Webhooks</h2>
    <p>
      Each event is sent to every endpoint that asks for its type, as a POST. Deliveries may come
      out of order and more than once: go by <code>id</code>, and by <code>data.sequence</code> or
      <code>timestamp</code>.
    </p>
    <h4>Headers</h4>
    <table>
      ${parameters.map(
        ({ name, description }) =>
          html`<tr>
            <td><code>${name}</code></td>
            <td>${prose(description)}</td>
          </tr>`,
      )}
    </table>
    <h4>Body</h4>
    ${fields(ENVELOPE)}
    <h4>In <code>data</code>, of every type</h4>
    ${fields(COMMON)}
    ${Object.entries(webhooks).map(([type, webhook]) => section(type, webhook, schemas))}`;
}

function section(type: string, { post }: Webhook, schemas: Schemas): Html {
  const { schema } = post.requestBody.content['application/json'];
  const envelope = resolve(schema as Schema, schemas);
  const data = resolve(envelope.properties?.['data'] ?? {}, schemas);
  const own = Object.entries(data.properties ?? {}).filter(
    ([name]) => COMMON.properties?.[name] === undefined,
  );
  return html`<section id="${anchor(type)}">
    <h3>${type}</h3>
    <p>${prose(post.description)}</p>
    ${fields({ ...data, properties: Object.fromEntries(own) })}
  </section>`;
}

function anchor(type: string): string {
  return `webhook-${type.replaceAll(/[._]/g, '-')}`;
}
