import type { FastifyReply, FastifyRequest } from 'fastify';
import type Provider from 'oidc-provider';
import { type AgentPermission, isAgentPermission } from '../access/index.ts';
import { ServiceError } from '../errors/fail.ts';
import { chooseLanguage, type Language } from '../kernel/language.ts';
import { networkOf } from '../kernel/network.ts';
import type { Observations } from '../observe/index.ts';
import { readRow } from '../records/index.ts';
import type { System } from '../systems/index.ts';
import { agentFor, authenticate } from '../users/index.ts';
import type { IssuerAddresses } from './addresses.ts';
import { isDocumentAddress } from './clients/metadata.ts';
import { queryValue } from './http-adapter.ts';
import type { RequestingClient } from './pages/client.ts';
import { consentPage } from './pages/consent.ts';
import { signInPage } from './pages/sign-in.ts';
import type { SignInFault } from './pages/texts.ts';

/** A pending authorization request of a user. */
type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;

/** Result of a request to a page: another page, or a redirect. */
export type PageResult =
  | {
      readonly status: number;
      readonly html: string;
      readonly redirectUri: string;
      /** Seconds until the next attempt is allowed. */
      readonly retryAfter?: number | undefined;
    }
  | { readonly goTo: string };

/** Context of a request to a page. */
export interface Visit {
  readonly system: System;
  readonly addresses: IssuerAddresses;
  readonly provider: Provider;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Applies the rate limit of sign-in attempts. @throws TooManyRequests (155) */
  readonly countAttempt: () => void;
  readonly observations: Pick<Observations, 'observe'>;
}

/** No such interaction for this browser: it has ended, or belongs to another browser. */
class InteractionGone extends Error {}

/** Whether an error reports that no interaction of this browser is pending; `SessionNotFound` is the error of `oidc-provider`. */
export function isGone(error: unknown): boolean {
  return error instanceof InteractionGone || (error as { readonly name?: unknown }).name === 'SessionNotFound';
}

const SIGN_IN: ReadonlySet<string> = new Set(['login', 'select_account']);

/** Shows the page of a pending request. @throws errors that `isGone` recognises */
export async function showInteraction(visit: Visit): Promise<PageResult> {
  const { interaction, ...known } = await pendingRequest(visit);
  return SIGN_IN.has(interaction.prompt.name)
    ? showSignIn(visit, interaction, known)
    : consentOrSignIn(visit, interaction, known);
}

/** Handles the form of the page. @throws errors that `isGone` recognises */
export async function takeInteraction(visit: Visit): Promise<PageResult> {
  const { interaction, ...known } = await pendingRequest(visit);
  const form = new URLSearchParams(typeof visit.request.body === 'string' ? visit.request.body : '');
  const decision = form.get('decision');
  if (decision === 'cancel') {
    const refusal = { error: 'access_denied', error_description: 'the user did not allow it' };
    return resume(visit, refusal, false);
  }
  if (SIGN_IN.has(interaction.prompt.name)) return signIn(visit, interaction, known, form);
  if (decision === 'switch') {
    return restartSignIn(visit, interaction, known);
  }
  return consent(visit, interaction, known, form);
}

interface ClientInfo {
  readonly asking: RequestingClient;
  readonly language: Language;
}

async function pendingRequest({ provider, request, reply }: Visit): Promise<ClientInfo & { readonly interaction: Interaction }> {
  const interaction = await provider.interactionDetails(request.raw, reply.raw);
  const { params, lastSubmission, uid } = interaction;
  if (uid !== (request.params as { readonly uid: string }).uid) throw new InteractionGone();
  const clientId = String(params.client_id);
  const client = await provider.Client.find(clientId);
  if (!client) throw new InteractionGone();
  const language = chooseLanguage({
    requested: queryValue(request, 'lang'),
    before: lastSubmission?.lang,
    locales: params.ui_locales,
    acceptLanguage: request.headers['accept-language'],
  });
  const publishedAt = isDocumentAddress(clientId) ? clientId : undefined;
  return { interaction, language, asking: { name: client.clientName, redirectUri: String(params.redirect_uri), publishedAt } };
}

/** A failed attempt to sign in. */
interface Failed {
  readonly username: string;
  readonly fault: SignInFault;
  readonly status: number;
  readonly retryAfter: number | undefined;
}

function showSignIn({ system }: Visit, { params }: Interaction, { asking, language }: ClientInfo, attempt?: Failed): PageResult {
  const hint = typeof params.login_hint === 'string' ? params.login_hint.slice(0, 1_000) : '';
  const { username, fault, status, retryAfter } = attempt ?? { username: hint, status: 200 };
  return {
    status,
    html: signInPage({ language, system: system.name, asking, username, fault }),
    redirectUri: asking.redirectUri,
    retryAfter,
  };
}

const faults: ReadonlyMap<string, readonly [SignInFault, status: number]> = new Map([
  ['badLogin', ['badLogin', 400]],
  ['accountLocked', ['accountLocked', 400]],
  ['userInactive', ['userInactive', 400]],
  ['usernameMissing', ['missing', 400]],
  ['passwordMissing', ['missing', 400]],
  ['tooManyRequests', ['tooMany', 429]],
]);

async function signIn(visit: Visit, interaction: Interaction, known: ClientInfo, form: URLSearchParams): Promise<PageResult> {
  const { system, countAttempt, request, observations } = visit;
  const username = form.get('username') ?? '';
  try {
    countAttempt();
    const { userId, mark } = await authenticate(system.store, {
      username,
      password: form.get('password'),
      network: networkOf(request.ip ?? ''),
      observations,
    });
    if (interaction.session && interaction.session.accountId !== userId) await forgetUser(visit, interaction);
    const login = { accountId: userId, acr: mark, amr: ['pwd'] };
    return await resume(visit, { login, select_account: {}, lang: known.language }, false);
  } catch (error) {
    const [fault, status] = (error instanceof ServiceError && faults.get(error.key)) || [];
    if (fault === undefined || status === undefined) throw error;
    return showSignIn(visit, interaction, known, {
      username: username.slice(0, 1_000),
      fault,
      status,
      retryAfter: (error as { readonly retryAfter?: number }).retryAfter,
    });
  }
}

/** The requested permissions, and those that the user may grant. */
interface Available {
  readonly userId: string;
  readonly requested: ReadonlySet<AgentPermission>;
  readonly available: ReadonlySet<AgentPermission>;
}

/** Returns what the user may grant; `null` if the session's user is no longer valid. */
async function availableTo({ system }: Visit, { params, session }: Interaction): Promise<Available | null> {
  const requested = new Set(String(params.scope).split(' ').filter(isAgentPermission));
  const userId = session?.accountId;
  const caller = userId === undefined ? null : await agentFor(system.store, userId, requested);
  return userId === undefined || !caller?.agent ? null : { userId, requested, available: caller.agent.permissions };
}

const nameFields = ['name', 'username'] as const;

async function consentOrSignIn(visit: Visit, interaction: Interaction, known: ClientInfo): Promise<PageResult> {
  const given = await availableTo(visit, interaction);
  return given ? showConsent(visit, known, given, false) : restartSignIn(visit, interaction, known);
}

async function restartSignIn(visit: Visit, interaction: Interaction, { language }: ClientInfo): Promise<PageResult> {
  await forgetUser(visit, interaction);
  return resume(visit, { lang: language }, false);
}

/** @param isEmpty whether the user allowed without selecting a permission */
async function showConsent(
  { system }: Visit,
  { asking, language }: ClientInfo,
  given: Available,
  isEmpty: boolean,
): Promise<PageResult> {
  const row = await readRow<{ name?: string; username?: string }>(system.store, '_User', nameFields, given.userId);
  const user = row?.username ?? row?.name ?? '';
  const html = consentPage({ language, system: system.name, asking, user, ...given, isEmpty });
  return { status: isEmpty ? 400 : 200, html, redirectUri: asking.redirectUri };
}

async function consent(visit: Visit, interaction: Interaction, known: ClientInfo, form: URLSearchParams): Promise<PageResult> {
  const { provider, addresses } = visit;
  const given = await availableTo(visit, interaction);
  if (!given) return restartSignIn(visit, interaction, known);
  const ticked = form.getAll('permission').filter(isAgentPermission);
  const granted = ticked.filter((permission) => given.available.has(permission));
  if (granted.length === 0) return showConsent(visit, known, given, true);
  const grant = new provider.Grant({ accountId: given.userId, clientId: String(interaction.params.client_id) });
  grant.addResourceScope(addresses.resource, [...new Set(granted)].join(' '));
  return resume(visit, { consent: { grantId: await grant.save() }, lang: known.language }, true);
}

/**
 * Removes the user from the browser's session, so that another user can sign in. The provider's own way would show a page that submits itself with a
 * script.
 */
async function forgetUser({ provider, request, reply }: Visit, interaction: Interaction): Promise<void> {
  const session = await provider.Session.get(provider.createContext(request.raw, reply.raw));
  if (session.accountId !== undefined) {
    delete session.accountId;
    delete session.authorizations;
    delete session.acr;
    delete session.loginTs;
    await session.persist();
  }
  delete interaction.session;
  await interaction.persist();
}

/** @param isAddition whether the result extends that of the previous page */
async function resume(
  { provider, request, reply }: Visit,
  result: Record<string, unknown>,
  isAddition: boolean,
): Promise<PageResult> {
  const goTo = await provider.interactionResult(request.raw, reply.raw, result, { mergeWithLastSubmission: isAddition });
  return { goTo };
}
