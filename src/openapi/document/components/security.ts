import type { JsonObject } from '../../../kernel/json.ts';

const key = (name: string, description: string): JsonObject => ({ type: 'apiKey', in: 'header', name, description });

/** Reference: authentication.md#credentials. */
export const securitySchemes: JsonObject = {
  ApplicationId: key('X-Platform-Application-Id', 'Names the system. Public, no secret.'),
  ApiKey: key('X-Platform-API-Key', 'Everything. Can be revoked. Keep it on servers.'),
  MasterKey: key('X-Platform-Master-Key', 'Everything. Keep it on servers.'),
  SessionToken: key('X-Platform-Session-Token', 'What the signed-in user may do.'),
};

const together = (...names: string[]): JsonObject => Object.fromEntries(['ApplicationId', ...names].map((name) => [name, []]));

/** The credentials of an operation: one of each list. */
export const security = {
  any: [together('ApiKey'), together('MasterKey'), together('SessionToken')],
  key: [together('ApiKey'), together('MasterKey')],
  master: [together('MasterKey')],
  session: [together('SessionToken')],
  application: [together()],
  none: [] as JsonObject[],
};
