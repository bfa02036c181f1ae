import { interactionPolicy, type KoaContextWithOIDC } from 'oidc-provider';

const { base, Check, Prompt } = interactionPolicy;

/**
 * When a request needs the user: to sign in where he has not, or is no longer who he was; and to consent, each time. A program's id and
 * name prove nothing, so that an earlier consent says nothing of who asks now.
 * @param markOf the mark that a user would sign in with now; `null` where he cannot
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
