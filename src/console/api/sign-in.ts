import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import type { Language } from '../../kernel/language.ts';
import { networkOf } from '../../kernel/network.ts';
import { changePassword, consoleSession, fileTokenOf, logInToConsole, logOutOfConsole } from '../../users/index.ts';
import type { ConsoleCookies } from '../context/cookies.ts';
import type { AddressCounter, ConsoleServices } from '../context/services.ts';
import { meOf } from '../data/me.ts';
import type { Me } from '../protocol/protocol.ts';
import type { ApiCall, OpenEndpoint } from './api.ts';
import { isFirstPassword } from './first-password.ts';

/** Sign-in attempts per minute from one address if RATE_LIMIT_LOGIN is not set. High enough for an office behind one address. */
export const DEFAULT_SIGN_INS_PER_MINUTE = 60;

/** Dependencies of sign-in. */
export interface SignInParts {
  readonly services: ConsoleServices;
  readonly cookies: ConsoleCookies;
  readonly attempts: AddressCounter | null;
}

/** The endpoints that create and end a session. Reference: console.md#sign-in-to-the-console. */
export function sessionEndpoints(parts: SignInParts): readonly OpenEndpoint[] {
  const { cookies, attempts } = parts;
  return [
    {
      method: 'POST',
      path: '/session',
      async run(call) {
        attempts?.count(call.request.ip ?? '');
        const sent = objectOf(call.sent.body);
        const token = await logInToConsole(call.system.store, {
          username: own(sent, 'username'),
          password: own(sent, 'password'),
          network: networkOf(call.request.ip ?? ''),
          isGone: () => call.reply.raw.destroyed,
          observations: parts.services.observations,
        });
        call.caller.progress.hasWritten = true;
        const hasFirstPassword = await isFirstPassword(parts.services.dataDir, call.system.appId, own(sent, 'password'));
        return { ...(await setCookies(parts, call, token)), ...(hasFirstPassword && { hasFirstPassword }) };
      },
    },
    {
      method: 'DELETE',
      path: '/session',
      async run({ system, request, reply }) {
        await logOutOfConsole(system.store, cookies.sessionOf(request.headers.cookie, system.appId));
        reply.header('set-cookie', cookies.signedOut(system.appId));
        return {};
      },
    },
    {
      method: 'PUT',
      path: '/me/password',
      async run(call) {
        const { system, request, caller, sent } = call;
        attempts?.count(request.ip ?? '');
        const { principal } = await consoleSession(system.store, cookies.sessionOf(request.headers.cookie, system.appId));
        caller.setCaller(principal);
        const body = objectOf(sent.body);
        const token = await changePassword(system.store, principal.userId, {
          oldPassword: own(body, 'oldPassword'),
          newPassword: own(body, 'newPassword'),
          network: networkOf(request.ip ?? ''),
        });
        caller.progress.hasWritten = true;
        return setCookies(parts, call, token);
      },
    },
  ];
}

/** Sets the session's cookies. */
async function setCookies({ services, cookies }: SignInParts, { system, reply }: ApiCall, token: string): Promise<Me> {
  const { appId, store } = system;
  const session = await consoleSession(store, token);
  // The log row of a sign-in names no user, because a user named in a row could not be deleted.
  const { principal } = session;
  const fileToken = fileTokenOf({ secret: services.secret, appId }, session, token);
  reply.header('set-cookie', cookies.signedIn(appId, token, fileToken));
  return meOf({ store, principal });
}

function objectOf(body: JsonValue | undefined): JsonObject {
  return isJsonObject(body) ? body : fail('invalidJson', 'the body should be an object');
}

/** Returns the language in a body: Hebrew, otherwise English. */
export const languageIn = (body: unknown): Language =>
  typeof body === 'string' && /"language"\s*:\s*"he"/.test(body.slice(0, 100)) ? 'he' : 'en';
