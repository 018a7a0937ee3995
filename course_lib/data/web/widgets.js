// Tells require.js where the widgets' modules lie, which is beside this file; else it would ask a CDN. And the
// translator in the page, where the scripts of its models lie.
(() => {
  const assets = new URL(".", document.currentScript.src).href;
  globalThis.COURSE_MODELS_AT = `${assets}models/`;
  const manager = assets + "html-manager/libembed-amd"; // all four are in this one file
  require.config({
    paths: {
      anywidget: assets + "anywidget",
      "@jupyter-widgets/base": manager,
      "@jupyter-widgets/controls": manager,
      "@jupyter-widgets/html-manager": manager,
      "@jupyter-widgets/html-manager/dist/libembed-amd": manager,
    },
  });
})();
