import { type Adapter, type AdapterPayload, errors } from 'oidc-provider';
import type { JsonObject } from '../../kernel/json.ts';
import { DAY_MS } from '../../kernel/time.ts';
import { familyOfNetwork, type OpenItems } from './bounds.ts';
import { keyOf } from './encryption.ts';
import type { Items } from './items.ts';

/** Items that nobody has signed in for. */
interface Open {
  readonly items: Pick<OpenItems, 'added'>;
  /** That the request comes from. */
  readonly network: () => string;
}

/** Milliseconds that a client is kept who has registered and not come to a grant. */
const UNUSED_CLIENT_LIFETIME_MS = DAY_MS;

/**
 * The provider's own items of one kind. What names an item (`jti`) and when it ends (`exp`) are no part of what is kept: the one is a
 * secret, the other is the row's.
 */
export class ItemAdapter implements Adapter {
  readonly #items: Items;
  readonly #kind: string;
  readonly #open: Open;

  /** @param open where those are counted that nobody has signed in for */
  constructor(items: Items, kind: string, open: Open) {
    this.#items = items;
    this.#kind = kind;
    this.#open = open;
  }

  /** @throws InvalidGrant where the grant that it is made for was revoked meanwhile; unavailable */
  async upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<undefined> {
    const { jti: _id, exp, consumed: _consumed, ...rest } = payload as AdapterPayload & { readonly jti?: string };
    const isGrant = this.#kind === 'Grant';
    const { grantId, clientId } = rest;
    const isOpen = this.#isOpen(rest);
    const isPut = await this.#items.put(this.#kind, id, {
      payload: rest as JsonObject,
      expiresAt: this.#endOf(exp, expiresIn),
      ...(isOpen && { family: familyOfNetwork(this.#open.network()) }),
      ...(isGrant && { family: keyOf('Grant', id) }),
      ...(isGrant && clientId !== undefined && { keeps: keyOf('Client', clientId) }),
      ...(isBound(this.#kind, grantId) && { family: keyOf('Grant', grantId), requires: keyOf('Grant', grantId) }),
      ...(this.#kind === 'Session' && rest.uid !== undefined && { uid: rest.uid }),
    });
    if (!isPut) throw new errors.InvalidGrant('the grant was revoked');
    if (isOpen) await this.#open.items.added(this.#kind);
  }

  /** Whether anybody may have an item added: a client that registers, a request whose user has not signed in. */
  #isOpen(payload: AdapterPayload): boolean {
    if (this.#kind === 'Client') return true;
    const { session, result } = payload as { readonly session?: { accountId?: string }; readonly result?: { login?: unknown } };
    return this.#kind === 'Interaction' && session?.accountId === undefined && result?.login === undefined;
  }

  #endOf(exp: number | undefined, expiresIn: number | undefined): number | null {
    if (exp !== undefined) return exp * 1_000;
    if (expiresIn !== undefined) return Date.now() + expiresIn * 1_000;
    return this.#kind === 'Client' ? Date.now() + UNUSED_CLIENT_LIFETIME_MS : null;
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const item = await this.#items.read(this.#kind, id);
    if (!item) return undefined;
    const { payload, expiresAt, consumedAt } = item;
    if (this.#kind === 'Client') return payload as AdapterPayload;
    return {
      ...payload,
      jti: id,
      ...(expiresAt !== null && { exp: Math.floor(expiresAt / 1_000) }),
      ...(consumedAt !== null && { consumed: Math.floor(consumedAt / 1_000) }),
    } as AdapterPayload;
  }

  /** A session by the id that is in other items; without its own id, which nobody can know who has not its cookie. */
  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    const item = await this.#items.readByUid(this.#kind, uid);
    return item ? ({ ...item.payload } as AdapterPayload) : undefined;
  }

  async findByUserCode(): Promise<undefined> {
    return undefined;
  }

  /** The second of two that use a code or a token revokes its family, tokens of the first too (RFC 9700). @throws InvalidGrant */
  async consume(id: string): Promise<undefined> {
    if (await this.#items.consume(this.#kind, id)) return;
    const family = await this.#items.familyOf(this.#kind, id);
    if (family !== null) await this.#items.removeFamily(family);
    throw new errors.InvalidGrant('it was used before');
  }

  async destroy(id: string): Promise<undefined> {
    if (this.#kind === 'Grant') await this.#items.removeFamily(keyOf('Grant', id));
    else await this.#items.remove(this.#kind, id);
  }

  async revokeByGrantId(grantId: string): Promise<undefined> {
    await this.#items.removeFamily(keyOf('Grant', grantId));
  }
}

/** Whether an item falls with a grant. An interaction names one too, and does not. */
const isBound = (kind: string, grantId: string | undefined): grantId is string =>
  grantId !== undefined && (kind === 'AuthorizationCode' || kind === 'RefreshToken');
