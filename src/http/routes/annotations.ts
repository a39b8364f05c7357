import type { Ids, OrgClock } from '../../../ledger/ports.ts';
import type { Settings } from '../../config.ts';
import { Full } from '../../platform/bounds.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import {
  type Annotation,
  type AnnotationKind,
  deleteAnnotation,
  insertAnnotation,
  listAnnotations,
  type NewAnnotation,
} from '../../records/annotations.ts';
import { ofScope, type Page } from '../../records/page.ts';
import type { Tenant } from '../../../ledger/kernel/tenant.ts';
import type { Edge, Route } from '../edge/edge.ts';
import type { FairSql } from '../edge/fair-sql.ts';
import { refuse } from '../edge/errors.ts';
import { type Answer, answer, type Attempt, once, refusal } from '../idempotency/idempotency.ts';
import type { QueryOf } from '../operation.ts';
import { answerList, PAGE } from '../list.ts';
import {
  ANNOTATION_FILTERS,
  CustomField,
  CustomFieldCreate,
  fromCustomField,
  fromTag,
  Tag,
  TagCreate,
  toNewCustomField,
  toNewTag,
} from '../wire/annotations.ts';
import { Body, ListOf } from '../wire/values.ts';

export type AnnotationRoutesDeps = {
  readonly edge: Edge;
  readonly sql: Sql;
  readonly lists: FairSql;
  readonly ids: Ids;
  readonly orgClock: OrgClock;
  readonly settings: Settings;
};

const query = Body({ ...PAGE, ...ANNOTATION_FILTERS });
const REFUSALS = ['not_found', 'conflict'] as const;

const ADD_TAG = {
  operationId: 'createTag',
  method: 'POST',
  path: '/tags',
  client: 'tags.create',
  summary: 'Put a tag on a customer, a subscription or an invoice',
  description:
    'A label without an effect of its own. The same tag on the same object again is 409. The ' +
    'number of tags of an object is bounded (`LIMIT_TAGS_PER_OBJECT`).',
  tag: 'Tags',
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: { object: 'tag', isRoutine: true },
  body: TagCreate,
  idempotent: true,
  answers: { 201: Tag },
  refusals: REFUSALS,
} as const;

const LIST_TAGS = {
  operationId: 'listTags',
  method: 'GET',
  path: '/tags',
  client: 'tags.list',
  summary: 'List tags, newest first',
  tag: 'Tags',
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  query,
  answers: { 200: ListOf(Tag) },
} as const;

const REMOVE_TAG = {
  operationId: 'deleteTag',
  method: 'DELETE',
  path: '/tags/{id}',
  client: 'tags.del',
  summary: 'Remove a tag',
  tag: 'Tags',
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: { object: 'tag', isRoutine: true },
  params: { id: 'The id of the tag.' },
  answers: { 204: null },
  refusals: ['not_found'],
} as const;

const ADD_FIELD = {
  operationId: 'createCustomField',
  method: 'POST',
  path: '/custom-fields',
  client: 'customFields.create',
  summary: 'Add a custom field to a customer, a subscription or an invoice',
  description:
    'A field cannot be changed: remove it and add another. A name that the object already has is ' +
    '409. The number of fields of an object is bounded (`LIMIT_CUSTOM_FIELDS_PER_OBJECT`).',
  tag: 'Custom fields',
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: { object: 'custom_field', isRoutine: true },
  body: CustomFieldCreate,
  idempotent: true,
  answers: { 201: CustomField },
  refusals: REFUSALS,
} as const;

const LIST_FIELDS = {
  operationId: 'listCustomFields',
  method: 'GET',
  path: '/custom-fields',
  client: 'customFields.list',
  summary: 'List custom fields, newest first',
  tag: 'Custom fields',
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  query,
  answers: { 200: ListOf(CustomField) },
} as const;

const REMOVE_FIELD = {
  operationId: 'deleteCustomField',
  method: 'DELETE',
  path: '/custom-fields/{id}',
  client: 'customFields.del',
  summary: 'Remove a custom field',
  tag: 'Custom fields',
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: { object: 'custom_field', isRoutine: true },
  params: { id: 'The id of the custom field.' },
  answers: { 204: null },
  refusals: ['not_found'],
} as const;

export function annotationRoutes(deps: AnnotationRoutesDeps): Route[] {
  return [
    addTag(deps),
    listTags(deps),
    removeTag(deps),
    addField(deps),
    listFields(deps),
    removeField(deps),
  ];
}

function addTag(deps: AnnotationRoutesDeps): Route {
  return deps.edge.organisation(ADD_TAG, ({ principal, body, idempotencyKey: key }) => {
    const attempt = { principal, operation: ADD_TAG, key, body };
    return add(deps, attempt, { annotation: toNewTag(body, deps.ids.next()), show: fromTag });
  });
}

function listTags({ edge, lists }: AnnotationRoutesDeps): Route {
  return edge.organisation(LIST_TAGS, (call) =>
    answerList(lists, call, { ...annotationsOf('tag', call), show: fromTag }),
  );
}

function removeTag(deps: AnnotationRoutesDeps): Route {
  return deps.edge.organisation(REMOVE_TAG, ({ principal, params: { id } }) =>
    remove(deps, principal, { kind: 'tag', id }),
  );
}

function addField(deps: AnnotationRoutesDeps): Route {
  return deps.edge.organisation(ADD_FIELD, ({ principal, body, idempotencyKey: key }) => {
    const attempt = { principal, operation: ADD_FIELD, key, body };
    const annotation = toNewCustomField(body, deps.ids.next());
    return add(deps, attempt, { annotation, show: fromCustomField });
  });
}

function listFields({ edge, lists }: AnnotationRoutesDeps): Route {
  return edge.organisation(LIST_FIELDS, (call) =>
    answerList(lists, call, { ...annotationsOf('custom_field', call), show: fromCustomField }),
  );
}

function removeField(deps: AnnotationRoutesDeps): Route {
  return deps.edge.organisation(REMOVE_FIELD, ({ principal, params: { id } }) =>
    remove(deps, principal, { kind: 'custom_field', id }),
  );
}

const WORDS = { tag: 'tag', custom_field: 'custom field' } as const;

function add(
  { sql, ids, orgClock, settings: { bounds } }: AnnotationRoutesDeps,
  call: Pick<Attempt, 'principal' | 'operation' | 'key' | 'body'> & { readonly principal: Tenant },
  what: { readonly annotation: NewAnnotation; readonly show: (made: Annotation) => object },
): Promise<Response> {
  const { annotation, show } = what;
  const now = orgClock.now(call.principal);
  return once({ ...call, sql, now }, async (transaction): Promise<Answer> => {
    const creation = { annotation, eventId: ids.next(), bounds, now };
    const made = await insertAnnotation(transaction, call.principal, creation);
    const { objectType, kind } = annotation;
    switch (made) {
      case 'no_such_object':
        return refusal('not_found', `no such ${objectType}`);
      case 'name_taken':
        return refusal('conflict', `the ${objectType} has a ${WORDS[kind]} of this name`);
      default:
        return made instanceof Full ? refusal('conflict', made.message) : answer(201, show(made));
    }
  });
}

function annotationsOf(
  kind: AnnotationKind,
  call: { readonly principal: Tenant; readonly query: QueryOf<typeof LIST_TAGS> },
) {
  const { principal, query: given } = call;
  const { object_type: objectType, object_id: objectId, name } = given;
  return {
    name: 'annotations' as const,
    whose: { ...ofScope(principal), kind },
    rows: (sql: Sql, page: Page) =>
      listAnnotations(sql, principal, { ...page, kind, objectType, objectId, name }),
  };
}

async function remove(
  { sql, ids, orgClock }: AnnotationRoutesDeps,
  scope: Tenant,
  which: { readonly kind: AnnotationKind; readonly id: string },
): Promise<Response> {
  const now = orgClock.now(scope);
  const isRemoved = await sql.begin((transaction) =>
    deleteAnnotation(transaction, scope, { ...which, eventId: ids.next(), now }),
  );
  return isRemoved
    ? new Response(null, { status: 204 })
    : refuse('not_found', `no such ${WORDS[which.kind]}`);
}
