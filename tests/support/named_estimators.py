"""The estimators that run one method, by the name of the method."""

from clusterlets import estimators
from clusterlets.estimators.method import MethodClusterer

NAMED = {
    value._method_class.name: value
    for value in map(vars(estimators).get, estimators.__all__)
    if isinstance(value, type) and issubclass(value, MethodClusterer) and value is not estimators.MethodClustering
}
