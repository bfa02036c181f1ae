import { OperatorError } from '../../kernel/operator-error.ts';
import { type Part, partsOf } from '../migrate/copy.ts';
import type { PartReader } from './archive-reader.ts';
import { fileIdOf, nameOfPart, REGISTRY_NAME, SCHEMA_NAME } from './manifest.ts';
import { type RegistryPart, readRegistry } from './registry-part.ts';
import { readSchema, type SchemaPart } from './schema-part.ts';
import { wholeText } from './whole-text.ts';

/** Handlers for the members of a backup. Bytes that a handler leaves unread are verified all the same. */
export interface MemberWork {
  schema(schema: SchemaPart): Promise<void>;
  /** @param of table or Relation of the rows, by the schema of the backup */
  rows(reader: PartReader, of: Part): Promise<void>;
  file(reader: PartReader, id: string): Promise<void>;
}

/**
 * Reads the members of a backup in order and checks that it is complete and contains nothing else.
 * @param appId from the manifest
 * @returns the registry entry of the system
 * @throws OperatorError for a missing or unknown member, and for an invalid schema or registry entry; errors of the handlers
 */
export async function readMembers(members: AsyncIterable<PartReader>, appId: string, work: MemberWork): Promise<RegistryPart> {
  let missing: Map<string, Part> | undefined;
  let known: RegistryPart | undefined;
  for await (const reader of members) {
    const { name } = reader.part;
    const fileId = fileIdOf(name);
    if (name === SCHEMA_NAME) {
      const schema = readSchema(await wholeText(reader.bytes, name));
      missing = new Map(partsOf(schema.schema).map((part) => [nameOfPart(part), part]));
      await work.schema(schema);
    } else if (name === REGISTRY_NAME) known = readRegistry(await wholeText(reader.bytes, name), appId);
    else if (fileId !== null) await work.file(reader, fileId);
    else {
      const part = missing?.get(name);
      if (!part) throw new OperatorError(`${name} is of no table of its schema`);
      missing?.delete(name);
      await work.rows(reader, part);
    }
  }
  if (!missing) throw new OperatorError(`${SCHEMA_NAME} is not in it`);
  for (const name of missing.keys()) throw new OperatorError(`${name} is not in the backup`);
  if (!known) throw new OperatorError(`${REGISTRY_NAME} is not in it`);
  return known;
}
