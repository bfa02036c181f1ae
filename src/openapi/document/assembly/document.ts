import type { CallableFunction } from '../../../functions/index.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { serviceVersion } from '../../../kernel/version.ts';
import { operationPrefixes } from '../../model/names.ts';
import { describerOf, type SystemTables } from '../../model/read-tables.ts';
import type { DescribedTable } from '../../model/table.ts';
import { answerSchemas, writeAnswers } from '../components/answers.ts';
import { errorResponses, errorSchemas } from '../components/errors.ts';
import { headers, parameters } from '../components/parameters.ts';
import type { ComponentKind } from '../components/refs.ts';
import { security, securitySchemes } from '../components/security.ts';
import { valueSchemas } from '../components/values.ts';
import { bulkPaths, bulkSchemas } from '../endpoints/bulk.ts';
import { filePaths } from '../endpoints/files.ts';
import { functionPaths } from '../endpoints/functions.ts';
import type { Paths } from '../endpoints/operation.ts';
import { schemaPaths, schemaSchemas } from '../endpoints/schemas.ts';
import { servicePaths } from '../endpoints/service.ts';
import { userPaths } from '../endpoints/users.ts';
import { pathsOfTable, type RecordAddress } from '../tables/paths.ts';
import { pointerSchema, schemasOfTable } from '../tables/table-schemas.ts';
import { Components, Members, Slices } from './pieces.ts';

/** A system to describe. */
export interface DescribedSystem {
  readonly appId: string;
  /** The public address of the service, without a trailing slash. */
  readonly base: string;
  readonly tables: SystemTables;
  readonly functions: readonly CallableFunction[];
}

const mapOf = (...of: Readonly<Record<string, JsonObject>>[]) => new Map(of.flatMap((one) => Object.entries(one)));

const shared: Readonly<Record<ComponentKind, ReadonlyMap<string, JsonObject>>> = {
  schemas: mapOf(valueSchemas, answerSchemas, errorSchemas, schemaSchemas, bulkSchemas),
  parameters: mapOf(parameters),
  headers: mapOf(headers),
  responses: mapOf(writeAnswers, errorResponses),
};

/** Other addresses of the records of tables. */
const aliases: ReadonlyMap<string, RecordAddress> = new Map([
  ['_User', { base: '/users', id: operationPrefixes.users, tag: 'Users and sessions' }],
  ['_Role', { base: '/roles', id: operationPrefixes.roles, tag: 'Users and sessions' }],
  ['_Session', { base: '/sessions', id: operationPrefixes.sessions, tag: 'Users and sessions' }],
]);

const tagsOfService = ['Users and sessions', 'Many records', 'Schemas', 'Files', 'Functions', 'Service'];

/**
 * Returns the OpenAPI description of a system as JSON text. It is made in slices of time, so that requests are answered meanwhile.
 * Reference: openapi.md#what-is-described.
 */
export async function documentOf({ appId, base, tables, functions }: DescribedSystem): Promise<string> {
  const describe = describerOf(tables);
  const components = new Components();
  const paths = new Members((text) => components.hear(text));
  const addAll = (of: Paths) => {
    for (const [path, item] of Object.entries(of)) paths.add(path, item);
  };
  const identifierOf = (className: string) => tables.identifiers.get(className);
  const slices = new Slices();
  const tags: JsonObject[] = [];
  const pointers = new Map<string, JsonObject>();
  for (const [className, identifier] of tables.identifiers) pointers.set(`${identifier}Pointer`, pointerSchema(className));
  let accounts: DescribedTable | undefined;
  for (const table of tables.selected) {
    const described = describe(table);
    const { className, label } = described;
    if (className === 'Accounts') accounts = described;
    tags.push({ name: className, ...(label !== undefined && { description: label }) });
    addAll(pathsOfTable(described));
    const alias = aliases.get(className);
    if (alias) addAll(pathsOfTable(described, alias));
    for (const [name, schema] of Object.entries(schemasOfTable(described, identifierOf))) components.add('schemas', name, schema);
    await slices.pause();
  }
  for (const group of [
    userPaths,
    bulkPaths,
    schemaPaths,
    filePaths(appId),
    functionPaths(appId, accounts, functions),
    servicePaths,
  ])
    addAll(group);
  components.complete((kind, name) => (kind === 'schemas' ? pointers.get(name) : undefined) ?? shared[kind].get(name));
  const head = {
    openapi: '3.1.0',
    info: {
      title: `Record Data Service: ${appId}`,
      version: serviceVersion(),
      description: 'The tables of one system and their addresses. Each system has its own.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: base }],
    security: security.any,
    // A table may have the name of one of these tags, which then has the operations of both.
    tags: [...tags, ...tagsOfService.filter((name) => !tags.some((tag) => tag.name === name)).map((name) => ({ name }))],
  };
  const schemes = JSON.stringify(securitySchemes);
  return `${JSON.stringify(head).slice(0, -1)},"paths":${paths},"components":{${components},"securitySchemes":${schemes}}}`;
}
