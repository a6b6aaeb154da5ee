// The logo of the page around a table.
export const OriginalAppLogo = () => null;
export default OriginalAppLogo;
