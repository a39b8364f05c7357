import { type Static, Type } from '@sinclair/typebox';
import { ANNOTATED, type Annotation, type NewAnnotation } from '../../records/annotations.ts';
import { SAMPLE } from './payloads/samples.ts';
import { Body, Line, Timestamp, Uuid, oneOf } from './values.ts';

export const AnnotatedType = oneOf(ANNOTATED);

const NAME_MAX = 100;
const VALUE_MAX = 500;

const AnnotationName = Type.String({
  ...Line,
  maxLength: NAME_MAX,
  description: 'Case matters. An object has each name once.',
  error: `must be one line of 1 to ${NAME_MAX} characters`,
});

const Value = Type.String({ minLength: 1, maxLength: VALUE_MAX });

const ON = { object_type: AnnotatedType, object_id: Uuid };

export const TagCreate = Body(
  { ...ON, name: AnnotationName },
  { object_type: 'customer', object_id: SAMPLE.customerId, name: 'vip' },
);

export const Tag = Type.Object({ id: Uuid, ...ON, name: AnnotationName, created_at: Timestamp });

export const CustomFieldCreate = Body(
  { ...ON, name: AnnotationName, value: Value },
  { object_type: 'customer', object_id: SAMPLE.customerId, name: 'crm', value: 'A-1017' },
);

export const CustomField = Type.Object({
  id: Uuid,
  ...ON,
  name: AnnotationName,
  value: Value,
  created_at: Timestamp,
});

/** The filters of a list. */
export const ANNOTATION_FILTERS = {
  object_type: Type.Optional(AnnotatedType),
  object_id: Type.Optional(Uuid),
  name: Type.Optional(Type.String()),
};

export function toNewTag(body: Static<typeof TagCreate>, id: string): NewAnnotation {
  const { object_type: objectType, object_id: objectId, name } = body;
  return { id, kind: 'tag', objectType, objectId, name, value: null };
}

export function toNewCustomField(
  body: Static<typeof CustomFieldCreate>,
  id: string,
): NewAnnotation {
  const { object_type: objectType, object_id: objectId, name, value } = body;
  return { id, kind: 'custom_field', objectType, objectId, name, value };
}

export function fromTag(tag: Annotation): Static<typeof Tag> {
  return {
    id: tag.id,
    object_type: tag.objectType,
    object_id: tag.objectId,
    name: tag.name,
    created_at: tag.createdAt.toISOString(),
  };
}

export function fromCustomField(field: Annotation): Static<typeof CustomField> {
  const { created_at, ...rest } = fromTag(field);
  return { ...rest, value: field.value ?? '', created_at };
}
