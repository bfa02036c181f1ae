import { interactionPolicy, type KoaContextWithOIDC } from 'oidc-provider';

const { base, Check, Prompt } = interactionPolicy;

/**
 * Returns when a request needs the user: to sign in, if there is no session or its user changed; and to consent, every time. A client's id and name
 * prove nothing, so an earlier consent does not identify the client.
 * @param markOf returns the mark of the user's present password; `null` if the user cannot sign in
 */
export function interactionPrompts(markOf: (userId: string) => Promise<string | null>): interactionPolicy.Prompt[] {
  const login = base().get('login');
  if (!login) throw new Error('there is no login prompt');
  login.checks.add(
    new Check('session_ended', 'the user has to sign in anew', 'login_required', async ({ oidc }: KoaContextWithOIDC) => {
      const { accountId, acr } = oidc.session ?? {};
      return accountId !== undefined && (await markOf(accountId)) !== acr;
    }),
  );
  const isOpen = ({ oidc }: KoaContextWithOIDC) => oidc.result?.consent === undefined;
  return [
    new Prompt({ name: 'select_account', requestable: true }),
    login,
    new Prompt(
      { name: 'consent', requestable: true },
      new Check('consent_missing', 'the user has to consent', 'consent_required', isOpen),
    ),
  ];
}
